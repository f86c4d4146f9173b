/** Shows the result of the saved flag for a user, with the reason, beside the flag's rules. */

import { Text, Title } from "@mantine/core";
import type { Rule } from "../../api/client";
import type { FlagPlace } from "../../api/flagPlace";
import { simulatorTexts } from "./simulatorTexts";
import classes from "./Simulator.module.css";
import { TryIt } from "./TryIt";

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly rules: readonly Rule[] | undefined };

export function Simulator({ path, flag, rules }: Props) {
  return (
    <section className={classes.simulator} aria-label={simulatorTexts.heading}>
      <Title order={2}>{simulatorTexts.heading}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {simulatorTexts.intro}
      </Text>
      <TryIt path={path} flag={flag} rules={rules} />
    </section>
  );
}
