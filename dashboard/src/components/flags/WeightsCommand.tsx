/** The call that sets the weights of variants, which the dashboard cannot do. The shares in it always sum to 100%. */

import { Button, NumberInput } from "@mantine/core";
import { useState } from "react";
import type { FlagPath, Variant } from "../../api/client";
import { weightsCommand } from "../../lib/snippets";
import { isEven, scaled, withWeight } from "../../lib/weights";
import { t } from "../../texts";
import { Command } from "../shared/Command";
import { WeightBar } from "./WeightBar";

interface Props {
  readonly path: FlagPath;
  readonly variants: readonly Variant[];
}

export default function WeightsCommand({ path, variants }: Props) {
  const { weights, set, setAll } = useWeights(scaled(variants.map((each) => each.weight)));
  const weighed = variants.map((each, place) => ({ ...each, weight: weights[place] ?? 0 }));
  return (
    <>
      <WeightBar weights={weights} />
      <Command
        label={t.variants.setWeights}
        text={t.variants.setWeightsText}
        needs="flags:write"
        command={(token) => weightsCommand(window.location.origin, path, weighed, token)}
      >
        {weighed.map(({ key, weight }, place) => (
          <NumberInput
            key={key}
            label={t.variants.weightOf(key)}
            labelProps={{ className: "break" }}
            size="xs"
            w={150}
            min={0}
            max={100}
            step={1}
            decimalScale={1}
            suffix="%"
            clampBehavior="strict"
            value={weight / 10}
            onChange={(value) => set(place, Math.round(Number(value) * 10))}
          />
        ))}
        <Button
          variant="default"
          size="xs"
          disabled={isEven(weights)}
          onClick={() => setAll(scaled(weights.map(() => 1)))}
        >
          {t.variants.splitEvenly}
        </Button>
      </Command>
    </>
  );
}

/**
 * Weights of which one is edited at a time. What the others get follows from the weights before the edit, so that the
 * digits typed on the way to a number do not matter.
 */
function useWeights(saved: number[]) {
  const [{ weights, before, edited }, setState] = useState({ weights: saved, before: saved, edited: -1 });
  const set = (place: number, weight: number) => {
    if (weight === weights[place]) return; // the field repeats what it is given
    const start = place === edited ? before : weights;
    setState({ weights: withWeight(start, place, weight), before: start, edited: place });
  };
  const setAll = (all: number[]) => setState({ weights: all, before: all, edited: -1 });
  return { weights, set, setAll };
}
