import type { Needs } from '../../deps.ts'
import { inBatches } from '../../documents/check-document.ts'
import type { DocumentText } from '../../documents/document.ts'
import { comparePaths } from '../../documents/document-path.ts'
import { shownIn } from '../../documents/overlay.ts'
import type { VersionSet } from '../../documents/ports.ts'
import { readTexts } from '../../documents/read-texts.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import type { Plan } from './plan-changes.ts'

type Texts = Needs<'stores' | 'templates'>
type Referring = Pick<DocumentText, 'path' | 'content'>

/**
 * Lists the prompts that will refer to a path that a push leaves empty, in path order. A scan returns the text's own
 * references without loading them.
 */
export async function findBrokenReferences(
  deps: Texts,
  owner: EvaluationOwner,
  draft: VersionSet,
  { left, slots }: Pick<Plan, 'left' | 'slots'>,
): Promise<string[]> {
  if (left.length === 0) return []
  const gone = new Set(left)
  const broken: string[] = []
  const texts = textsAfter(deps, owner.workspaceId, draft, { left, slots })
  for await (const path of inBatches(deps, texts, owner, async ({ path, content }) => {
    const { references } = await deps.templates.scan({ path, content, documents: {} }, owner)
    return references.some((reference) => gone.has(reference)) ? path : null
  })) {
    if (path !== null) broken.push(path)
  }
  return broken.sort(comparePaths)
}

/** Yields all texts after the push that may refer to one of the paths. */
async function* textsAfter(
  { stores }: Texts,
  workspaceId: number,
  draft: VersionSet,
  { left, slots }: Pick<Plan, 'left' | 'slots'>,
): AsyncGenerator<Referring[]> {
  const written = new Map(slots.map((slot) => [slot.path, shownIn(slot)]))
  const [only, ...others] = left
  const filter = others.length === 0 && only !== undefined ? { mentions: only } : { paths: [], orReferring: true }
  for await (const part of readTexts(stores, workspaceId, draft, filter)) {
    yield part.filter(({ path }) => !written.has(path))
  }
  yield [...written.values()].filter((text) => text !== null)
}
