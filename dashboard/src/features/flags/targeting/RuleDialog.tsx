/** The dialog for adding or editing a rule. */

import { lazy } from "react";
import { rulesTexts } from "../flagsTexts";
import { Dialog } from "../../../ui/Dialog";
import type { RuleFormProps } from "./RuleForm";

const RuleForm = lazy(() => import("./RuleForm"));

export function RuleDialog({ opened, ...props }: RuleFormProps & { readonly opened: boolean }) {
  const title = props.rule ? rulesTexts.editHeading : rulesTexts.addHeading;
  return (
    <Dialog title={title} size={600} yOffset="6vh" opened={opened} onClose={props.onClose}>
      <RuleForm {...props} />
    </Dialog>
  );
}
