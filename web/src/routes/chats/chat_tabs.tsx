import { Link } from "@tanstack/react-router";
import page from "../../ui/page.module.css";

export function ChatTabs() {
  return (
    <nav className={page.tabs} aria-label="Chats">
      <Link to="/chats">Chats</Link>
      <Link to="/profiles">Operation profiles</Link>
    </nav>
  );
}
