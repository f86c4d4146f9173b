/** The button of a page that creates what the page lists. */

import type { ComponentProps } from "react";
import { GuardedButton } from "./GuardedButton";
import { IconPlus } from "./icons";

export function NewButton(props: ComponentProps<typeof GuardedButton>) {
  return <GuardedButton leftSection={<IconPlus size={16} />} flex="none" {...props} />;
}
