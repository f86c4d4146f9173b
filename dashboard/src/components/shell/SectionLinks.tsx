/** The sections of a place, as tabs. If they are wider than the window, the current one is scrolled into view. */

import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { showCurrent } from "../../lib/showCurrent";
import classes from "./Sections.module.css";

export function SectionLinks({ label, children }: { label: string; children: ReactNode }) {
  const row = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => showCurrent(row.current), [path, children]); // sections that are known later move the current one
  return (
    <nav ref={row} className={classes.sections} aria-label={label}>
      {children}
    </nav>
  );
}
