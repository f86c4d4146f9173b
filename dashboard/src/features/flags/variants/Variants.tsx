/** The flag's variants: their shares of users and their values. */

import { Text } from "@mantine/core";
import { lazy } from "react";
import type { Rule, Variant } from "../../../api/client";
import { DEFAULT_STICKINESS } from "../../../ui/conditions/audience";
import { draftOfFlag, type FlagPlace } from "../../../api/flagPlace";
import { useDialog } from "../../../ui/useDialog";
import { writeJson } from "../../../api/json";
import { percent, scaled } from "../../../ui/weights";
import { variants as variantTexts } from "./variantsTexts";
import { Dialog } from "../../../ui/Dialog";
import { EditButton } from "../../../ui/EditButton";
import { SectionHeading } from "../../../ui/SectionHeading";
import classes from "./Variants.module.css";
import { Swatch, WeightBar } from "../../../ui/WeightBar";

const VariantsForm = lazy(() => import("./VariantsForm"));

const LONGEST_VALUE = 80;

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly rules: readonly Rule[] };

export function Variants({ path, flag, rules }: Props) {
  const editing = useDialog(draftOfFlag(flag, "variants"));
  const { variants, stickiness } = flag;
  const hasAny = variants.length > 0;
  const title = hasAny ? variantTexts.edit : variantTexts.add;
  const intro = stickiness === DEFAULT_STICKINESS ? variantTexts.intro : variantTexts.introBy(stickiness);
  return (
    <section aria-label={variantTexts.heading}>
      <SectionHeading
        title={variantTexts.heading}
        intro={hasAny ? intro : variantTexts.none}
        action={<EditButton exists={hasAny} label={title} onClick={editing.open} />}
      />
      {hasAny && (
        <div className={classes.card}>
          <WeightBar weights={variants.map((each) => each.weight)} />
          <Shares variants={variants} />
          <Text size="xs" c="dimmed">
            {variantTexts.shareNote}
          </Text>
        </div>
      )}
      <Dialog title={title} size={600} yOffset="6vh" {...editing.props}>
        <VariantsForm path={path} flag={flag} rules={rules} onClose={editing.props.onClose} />
      </Dialog>
    </section>
  );
}

function Shares({ variants }: { variants: readonly Variant[] }) {
  const shares = scaled(variants.map((each) => each.weight));
  return (
    <ul className={classes.shares}>
      {variants.map(({ key, value }, place) => (
        <li key={key} className={classes.variant}>
          <span className={classes.key}>
            <Swatch place={place} />
            <span className="break">{key}</span>
          </span>
          <span className="numbers">{percent(shares[place] ?? 0)}</span>
          <Value value={value} />
        </li>
      ))}
    </ul>
  );
}

/** A value as JSON; a long one is folded. */
function Value({ value }: Pick<Variant, "value">) {
  const json = writeJson(value);
  if (json.length <= LONGEST_VALUE) return <code className={classes.value}>{json}</code>;
  return (
    <details className={classes.fold}>
      <summary>
        <code>{variantTexts.value(json)}</code>
      </summary>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <pre className={classes.whole} tabIndex={0}>
        {typeof value === "object" ? writeJson(value, 2) : json}
      </pre>
    </details>
  );
}
