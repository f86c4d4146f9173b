/** Says that a project has no metrics to watch, and leads to where they are created. */

import { Text } from "@mantine/core";
import { releases as texts } from "./releasesTexts";
import { AnchorLink } from "../../ui/links";

export function NoMetrics({ text, projectId }: { readonly text: string; readonly projectId: string }) {
  return (
    <Text size="sm">
      {text}{" "}
      <AnchorLink to="/projects/$projectId/metrics" params={{ projectId }} inherit underline="always">
        {texts.toMetrics}
      </AnchorLink>
    </Text>
  );
}
