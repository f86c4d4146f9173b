/** What an erasure would erase, and what it leaves: the rules and segments that name the user, and other remains. */

import { Stack, Text, Title } from "@mantine/core";
import type { ErasurePreview, NamedBy } from "./erasuresCalls";
import { useEnvironments } from "../../ui/useHere";
import { visibleName } from "../../ui/givenText";
import { erasures as texts } from "./erasuresTexts";
import { Sheet } from "../../ui/DataTable";
import { Facts } from "../../ui/Facts";
import { IconHistory } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { Unfold } from "../../ui/Unfold";

interface Props {
  readonly projectId: string;
  readonly preview: ErasurePreview;
}

export function Previewed({ projectId, preview }: Props) {
  const { named_by: namedBy, remains } = preview;
  return (
    <>
      <Records preview={preview} />
      {(namedBy.length > 0 || preview.more_named_by) && (
        <Stack gap={4}>
          <Title order={3} size="h4">
            {texts.namedBy}
          </Title>
          <Text c="dimmed" size="sm">
            {texts.namedByText} {preview.more_named_by && texts.moreNamedBy}
          </Text>
          <ul aria-label={texts.namedBy}>
            {namedBy.map((each) => (
              <Naming key={each.id} projectId={projectId} place={each} />
            ))}
          </ul>
        </Stack>
      )}
      <Unfold label={texts.remains} icon={<IconHistory size={15} />}>
        <Facts facts={remains.map(({ what, until }) => [what, until] as const)} />
      </Unfold>
    </>
  );
}

function Records({ preview }: { preview: ErasurePreview }) {
  const environments = useEnvironments();
  const found = preview.found.filter((each) => each.more || each.evaluations + each.events + each.release_users > 0);
  const isNothing = found.length === 0 && preview.changes === 0 && !preview.more_changes;
  if (isNothing) return <Text>{texts.nothing}</Text>;
  const nameOf = (id: string) => visibleName(environments.find((each) => each.id === id)?.name ?? id);
  return (
    <>
      {found.length > 0 && (
        <Sheet
          label={texts.found}
          rows={found}
          keyOf={(each) => each.environment_id}
          columns={[
            { head: texts.environment, cell: (each) => <bdi>{nameOf(each.environment_id)}</bdi> },
            { head: texts.evaluations, cell: (each) => texts.atLeast(inEnglish(each.evaluations), each.more) },
            { head: texts.events, cell: (each) => texts.atLeast(inEnglish(each.events), each.more) },
            { head: texts.releases, cell: (each) => inEnglish(each.release_users) },
            {
              head: texts.attributes,
              cell: (each) =>
                each.attributes
                  .map(({ name, evaluations }) => texts.attribute(visibleName(name), evaluations))
                  .join(", "),
            },
          ]}
        />
      )}
      <Facts facts={[[texts.trail, texts.atLeast(inEnglish(preview.changes), preview.more_changes)]]} />
    </>
  );
}

function Naming({ projectId, place }: { projectId: string; place: NamedBy }) {
  const environments = useEnvironments();
  const { environment_id: environmentId, flag_id: flagId, key, attributes } = place;
  const environment = environments.find((each) => each.id === environmentId);
  return (
    <li className="break">
      {environmentId !== null && flagId !== null ? (
        <AnchorLink
          to="/projects/$projectId/environments/$environmentId/flags/$flagId"
          params={{ projectId, environmentId, flagId }}
        >
          {texts.ruleOf(key)}
        </AnchorLink>
      ) : (
        <AnchorLink to="/projects/$projectId/segments" params={{ projectId }}>
          {texts.segment(key)}
        </AnchorLink>
      )}{" "}
      <Text span c="dimmed" size="sm">
        {texts.named(environment && visibleName(environment.name), attributes.map(visibleName))}
      </Text>
    </li>
  );
}

function inEnglish(count: number): string {
  return count.toLocaleString("en");
}
