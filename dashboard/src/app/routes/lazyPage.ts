import { type AsyncRouteComponent, lazyRouteComponent } from "@tanstack/react-router";
import { explained } from "../../ui/missingCode";

/** A page whose code is loaded when it is first opened. `name` is what its module exports. */
export function lazyPage(importer: () => Promise<object>, name: string): AsyncRouteComponent<object> {
  return lazyRouteComponent(() => explained(importer() as Promise<Record<string, () => React.ReactNode>>), name);
}
