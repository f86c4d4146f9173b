/** Says which SDK instances use an SDK key. */

import type { Connection } from "../api/connections";
import { sdkKeys as texts } from "../texts/sdkKeys";

const APPLICATIONS_SHOWN = 5;

/**
 * The instances that were seen in the environment of the key in the last hour, which has so many keys. Which key an
 * instance uses is not recorded, so they are known to use the key only if it is the only one.
 */
export function usersInWords(connections: readonly Connection[], keys: number, environment: string): string {
  if (connections.length === 0) return texts.noInstances(environment);
  const byApplication = new Map<string, number>();
  for (const { application } of connections) byApplication.set(application, (byApplication.get(application) ?? 0) + 1);
  const names = [...byApplication].toSorted((a, b) => b[1] - a[1]);
  const shown = names.slice(0, APPLICATIONS_SHOWN).map(([name, count]) => texts.instancesOf(name, count));
  const left = names.length - shown.length;
  const all = [...shown, ...(left > 0 ? [texts.moreApplications(left)] : [])].join(", ");
  return keys === 1 ? texts.usedBy(all) : texts.maybeUsedBy(environment, all, keys);
}
