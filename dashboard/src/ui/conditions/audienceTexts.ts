export const audienceTexts = {
  everyone: "Everyone",
  share: (percentage: number) => `${percentage}% of users`,
  nobody: "Nobody",
  withPrerequisites: (audience: string, count: number) =>
    `${audience}; needs ${count} ${count === 1 ? "flag" : "flags"}`,
  rulesOnly: (rules: number) => `${rules} ${rules === 1 ? "rule" : "rules"} only`,
  rulesThen: (rules: number, percentage: number) =>
    `${rules} ${rules === 1 ? "rule" : "rules"}, then ${percentage === 0 ? "everyone" : `${percentage}%`}`,
  offText: "Off for everyone. Its rules and rollout are kept for when you turn it on again.",
  onEveryone: "On for everyone.",
  onRollout: (percentage: number) => `On for ${percentage}% of users, always the same users.`,
  onRolloutBy: (percentage: number, attribute: string) => `On for ${percentage}% of users, chosen by ${attribute}.`,
  onRulesAndRollout: (percentage: number) => `On for users who match a rule, and for ${percentage}% of all others.`,
  onSharesAndRollout: (percentage: number) =>
    `On for users who match a rule and are in its percentage, and for ${percentage}% of all others.`,
  onRulesOnly: "On only for users who match a rule. It is off for everyone else.",
  onSharesOnly: "On only for users who match a rule and are in its percentage. It is off for everyone else.",
  onNobody: "Off for everyone: it is on only for users who match a rule, and no rule is enabled.",
  onRulesAndEveryone: "On for everyone. The rules make no difference now; they only show as the reason in the history.",
  needs: (words: string) => `It also requires that ${words}.`,
  prerequisite: {
    on: (flag: string) => `${flag} is on`,
    off: (flag: string) => `${flag} is off`,
    variants: (flag: string, variants: string) => `${flag} is on with ${variants}`,
  },
};
