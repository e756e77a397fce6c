import { Link } from "@tanstack/react-router";
import page from "../../ui/page.module.css";

export function ResourceTabs() {
  return (
    <nav className={page.tabs} aria-label="Resources">
      <Link to="/evals">Evals</Link>
      <Link to="/schedules">Schedules</Link>
      <Link to="/personas">Personas</Link>
      <Link to="/connectors">Connectors</Link>
    </nav>
  );
}
