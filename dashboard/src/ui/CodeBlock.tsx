import { lazy, Suspense } from "react";
import type { CodeLanguage } from "./highlighting";
import classes from "./CodeBlock.module.css";
import { CopyIcon } from "./CopyButton";

const ColouredCode = lazy(() => import("./ColouredCode"));

interface Props {
  readonly code: string;
  readonly label: string;
  /** Colours it, once the code for that has loaded. */
  readonly language?: CodeLanguage;
  /** What is copied instead, such as the code with a token that is not shown. */
  readonly copied?: string;
  readonly copyLabel?: string;
}

export function CodeBlock({ code, label, language, copied = code, copyLabel }: Props) {
  return (
    <div className={classes.block}>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <section className={classes.scroll} tabIndex={0} aria-label={label}>
        <pre className={classes.code}>
          <code>
            {language ? (
              <Suspense fallback={code}>
                <ColouredCode code={code} language={language} />
              </Suspense>
            ) : (
              code
            )}
          </code>
        </pre>
      </section>
      <div className={classes.copy}>
        <CopyIcon text={copied} {...(copyLabel && { label: copyLabel })} />
      </div>
    </div>
  );
}
