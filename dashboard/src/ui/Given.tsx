/** A name or an id that somebody else wrote: its direction is its own, and it changes nothing around it. */

import { visibleName } from "./givenText";

export function Given({ text }: { text: string }) {
  return <bdi>{visibleName(text)}</bdi>;
}
