import { Link } from "@tanstack/react-router";
import { useIsAdmin } from "../../api/role";
import page from "../../ui/page.module.css";

export function SystemTabs() {
  const isAdmin = useIsAdmin();
  return (
    <nav className={page.tabs} aria-label="Settings">
      <Link to="/settings" activeOptions={{ exact: true }}>
        Evaluation
      </Link>
      <Link to="/settings/budgets">Budgets</Link>
      <Link to="/providers">Providers</Link>
      {isAdmin && <Link to="/settings/tokens">Tokens</Link>}
    </nav>
  );
}
