/** The colours of charts differ with any colour vision, as Machado, Oliveira and Fernandes (2009) simulate them. */

import { describe, expect, it } from "vitest";
import { cssVariables } from "../../ui/theme";
import { COLOURS } from "./chartColours";

const variables = cssVariables({} as never);
const LEAST = 20; // in CIE Lab; two colours with 2 can hardly be told apart side by side

type Triple = readonly [number, number, number];
const VISIONS: Readonly<Record<string, readonly Triple[]>> = {
  trichromat: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanope: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranope: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanope: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}; // prettier-ignore

function coloursOf(scheme: "light" | "dark"): string[] {
  const shared: Record<string, string> = variables[scheme];
  return [...COLOURS.map((each) => each[scheme]), shared["--on"] ?? "", shared["--bar-off"] ?? ""];
}

function labOf(colour: string, vision: readonly Triple[]): Triple {
  const given = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const linear = given.map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  const [r, g, b] = vision.map((row) => Math.min(1, Math.max(0, row.reduce((sum, each, at) => sum + each * (linear[at] ?? 0), 0)))) as unknown as Triple; // prettier-ignore
  const [x, y, z] = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
  ].map((each) => (each > 0.008856 ? Math.cbrt(each) : 7.787 * each + 16 / 116)) as unknown as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe.each(["light", "dark"] as const)("in the %s scheme", (scheme) => {
  it.each(Object.keys(VISIONS))("all differ for a %s", (name) => {
    const labs = coloursOf(scheme).map((colour) => labOf(colour, VISIONS[name] ?? []));
    expect(labs).toHaveLength(8);
    const distances = labs.flatMap((a, place) => labs.slice(place + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]))); // prettier-ignore
    expect(Math.min(...distances)).toBeGreaterThan(LEAST);
  });
});
