/** Dialogs whose code loads when they are first opened, so that pages without them load sooner. */

import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import type { DialogProps } from "./useDialog";

export function lateDialog<Props extends DialogProps>(load: () => Promise<ComponentType<Props>>) {
  const Loaded = lazy(() => load().then((component) => ({ default: component }))) as unknown as ComponentType<Props>;

  function Opening(props: Props) {
    const [isThere, setThere] = useState(false);
    // oxlint-disable-next-line react/set-state-in-effect -- a dialog that was not there before does not give the focus back
    useEffect(() => setThere(true), []);
    return <Loaded {...props} opened={isThere && props.opened} />;
  }

  return function LateDialog(props: Props) {
    const [isWanted, setWanted] = useState(props.opened);
    if (props.opened && !isWanted) setWanted(true);
    return (
      isWanted && (
        <Suspense fallback={null}>
          <Opening {...props} />
        </Suspense>
      )
    );
  };
}
