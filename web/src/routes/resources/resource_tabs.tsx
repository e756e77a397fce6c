import { Link } from "@tanstack/react-router";
import page from "../../ui/page.module.css";

/** The screens of what runs are made of besides definitions. */
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
