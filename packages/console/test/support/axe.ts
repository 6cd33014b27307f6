/** The violations that axe finds in a page. */
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface Violation {
  id: string
  nodes: { target: unknown; failureSummary?: string }[]
}

declare global {
  interface Window {
    axe: { run(options: object): Promise<{ violations: Violation[] }> }
  }
}

const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** One line for each violation. */
export async function violations(page: Page, rules: readonly string[] = all): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: axe })
  const found = await page.evaluate(async (runOnly) => {
    // Without it, axe also describes every element that passes.
    const result = await window.axe.run({ runOnly, resultTypes: ['violations'] })
    return result.violations
  }, rules)
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target} ${failureSummary}`),
  )
}
