import { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { Refused } from './archive-limits.ts'
import type { ArchivedExample } from './archive-lines.ts'
import type { ProjectArchive } from './project-archive.ts'

type Fields = Omit<ArchivedExample, 'path' | 'name' | 'tags'>

/** Checks that each example belongs to a prompt and stays inside the server's limits. @throws Refused */
export function checkExamples({ versions, examples }: Pick<ProjectArchive, 'versions' | 'examples'>): void {
  const paths = new Set(
    versions.flatMap(({ changes, revisions = [] }) => [...changes, ...revisions].map(({ path }) => path)),
  )
  const prompts = new Map<string, { names: Set<string>; bytes: number }>()
  for (const { path, name, ...fields } of examples) {
    const shown = `the example ${JSON.stringify(name)} of ${JSON.stringify(path)}`
    if (!paths.has(path)) throw new Refused(`the prompt of ${shown} is missing`)
    const bytes = bytesOf(fields)
    if (bytes > EXAMPLE_LIMITS.bytes) throw new Refused(`${shown} has more than ${EXAMPLE_LIMITS.bytes} bytes`)
    const prompt = prompts.get(path) ?? { names: new Set(), bytes: 0 }
    if (prompt.names.has(name)) throw new Refused(`${shown} appears twice`)
    prompts.set(path, { names: prompt.names.add(name), bytes: prompt.bytes + bytes })
  }
  for (const [path, { names, bytes }] of prompts) {
    const { perPrompt, bytesPerPrompt } = EXAMPLE_LIMITS
    if (names.size > perPrompt) throw new Refused(`${path} has more than ${perPrompt} examples`)
    if (bytes > bytesPerPrompt) throw new Refused(`the examples of ${path} have more than ${bytesPerPrompt} bytes`)
  }
}

/** As the server counts them. */
function bytesOf({ parameters, messages, expected = null, checks = [], toolResults = {} }: Fields): number {
  const values = [parameters, messages, checks, toolResults, ...(expected === null ? [] : [expected])]
  return values.reduce<number>((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), -'[]{}'.length)
}
