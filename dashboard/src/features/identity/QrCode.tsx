/** A QR code, black on white in both colour schemes, because many cameras cannot read it otherwise. */

import { encode } from "uqr";
import classes from "./QrCode.module.css";

const QUIET_MODULES = 4; // the margin that the standard asks for
const MODULE_PIXELS = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_MODULES });
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg
      role="img"
      aria-label={label}
      className={classes.code}
      width={size * MODULE_PIXELS}
      height={size * MODULE_PIXELS}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
