import classes from "./CodeBlock.module.css";
import { CopyIcon } from "./CopyButton";

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className={classes.block}>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <section className={classes.scroll} tabIndex={0} aria-label={label}>
        <pre className={classes.code}>
          <code>{code}</code>
        </pre>
      </section>
      <div className={classes.copy}>
        <CopyIcon text={code} />
      </div>
    </div>
  );
}
