/** The panels of the prompt screen that have an address. */
export const promptTabs = ['run', 'examples', 'parameters', 'preview', 'references', 'use'] as const
export type PromptTab = (typeof promptTabs)[number]

export function isPromptTab(value: unknown): value is PromptTab {
  return promptTabs.includes(value as PromptTab)
}
