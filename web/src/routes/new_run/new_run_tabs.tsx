import { Link } from "@tanstack/react-router";
import page from "../../ui/page.module.css";

export function NewRunTabs() {
  return (
    <nav className={page.tabs} aria-label="Kind of run">
      <Link to="/new" activeOptions={{ exact: true, includeSearch: false }}>
        Definition
      </Link>
      <Link to="/new/scale">Scale run</Link>
    </nav>
  );
}
