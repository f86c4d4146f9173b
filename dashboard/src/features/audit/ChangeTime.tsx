import { inFull } from "../../ui/time";
import { When } from "../../ui/When";

/** The time of a change, exact or relative. */
export function ChangeTime({ at, exact = false }: { at: string; exact?: boolean | undefined }) {
  return exact ? <time dateTime={at}>{inFull(at)}</time> : <When at={at} />;
}
