/** The newest known state of a resource: the one that the page has, or the one with which a change was refused. */

import { useState } from "react";
import { type State, stateOf } from "../api/states";

export function useNewest(resource: object) {
  const [newest, setNewest] = useState({ given: resource, state: stateOf(resource) });
  if (newest.given !== resource) setNewest({ given: resource, state: stateOf(resource) });
  const note = (state: State): void => setNewest(({ given }) => ({ given, state }));
  return { state: newest.state, note };
}
