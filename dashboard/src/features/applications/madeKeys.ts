/** SDK keys that were created on a page, which are kept in its memory only, because they are shown once. */

import { useState } from "react";
import type { Environment } from "../../api/client";
import type { CreatedSdkKey, NewSdkKey } from "../credentials/sdkKeysCalls";

export interface MadeKeys {
  readonly find: (environment: Environment, kind: NewSdkKey["kind"]) => CreatedSdkKey | undefined;
  readonly add: (environment: Environment, key: CreatedSdkKey) => void;
}

export function useMadeKeys(): MadeKeys {
  const [keys, setKeys] = useState<Readonly<Record<string, CreatedSdkKey>>>({});
  return {
    find: ({ id }, kind) => keys[`${id} ${kind}`],
    add: ({ id }, key) => setKeys((known) => ({ ...known, [`${id} ${key.kind}`]: key })),
  };
}
