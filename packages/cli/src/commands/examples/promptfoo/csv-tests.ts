/** The CSV form of promptfoo's tests: columns are variables, and those that start with `__` have meanings. */
import { readRecords } from '../rows/read-csv.ts'
import { RefusedRow } from '../rows/row.ts'
import type { Assertion } from './checks-of.ts'
import type { Source, Test } from './files.ts'

/**
 * All types of assertions of promptfoo (November 2026), also those without a counterpart, which are then losses. Other
 * cells are a text to equal.
 */
const types = [
  'equals|i?contains|i?contains-(?:any|all)|contains-(?:json|sql|xml|html)|regex|starts-with|word-count',
  'is-(?:json|sql|xml|html|refusal|valid-(?:function-call|openai-function-call|openai-tools-call))',
  'javascript|python|ruby|webhook|cost|latency|perplexity|perplexity-score|finish-reason|guardrails|moderation|classifier',
  'similar|similar:(?:cosine|dot|euclidean)|levenshtein|rouge-[nls]|bleu|gleu|meteor|pi|select-best|max-score|human',
  'llm-rubric|agent-rubric|search-rubric|factuality|g-eval|model-graded-(?:closedqa|factuality)|answer-relevance',
  'context-(?:recall|relevance|faithfulness)|conversation-relevance|tool-call-f1|skill-used',
  'trace-(?:span-count|span-duration|error-spans)',
  'trajectory:(?:goal-success|tool-args-match|step-count|tool-sequence|tool-used)',
]
const withValue = new RegExp(`^((?:not-)?(?:${types.join('|')}))(?:\\(([\\d.]+)\\))?(?::([\\s\\S]*))?$`)

/** @throws RefusedRow */
export function csvTests({ value, file }: Source): Test[] {
  const [head, ...records] = readRecords(file, String(value))
  if (!head) throw new RefusedRow(file, 1, 'the file is empty')
  return records.map(({ line, cells }) => {
    const vars: [string, string][] = []
    const assert: Assertion[] = []
    const more: [string, unknown][] = []
    for (const [index, header] of head.cells.entries()) {
      const [name, cell] = [header.trim(), cells[index] ?? '']
      if (!name.startsWith('__')) vars.push([name, cell])
      else if (cell.trim() === '') continue
      else if (name.startsWith('__expected')) assert.push(assertionOf(cell.trim()))
      else if (name === '__description') more.push(['description', cell])
      else more.push([name, cell])
    }
    return { file, line, value: { ...Object.fromEntries(more), vars: Object.fromEntries(vars), assert } }
  })
}

function assertionOf(cell: string): Assertion {
  if (/^(fn|eval):/.test(cell)) return { type: 'javascript', value: cell }
  if (cell.startsWith('grade:')) return { type: 'llm-rubric', value: cell.slice('grade:'.length).trim() }
  const [, type, threshold, value] = withValue.exec(cell) ?? []
  if (type === undefined) return { type: 'equals', value: cell }
  return {
    type,
    ...(value !== undefined && { value: value.trim() }),
    ...(threshold !== undefined && { threshold: Number(threshold) }),
  }
}
