/** The words about runs that tried a draft. Pure. */
import type { Run } from '@stet/sdk'
import { withSigns } from '../../ui/hidden-characters.ts'

const mostNamed = 3

/** "of this draft by Ana and Leo, 1 failed". Names the people in the order of their runs, and leaves out none silently. */
export function evidenceText(runs: readonly Pick<Run, 'author' | 'status'>[]): string {
  const names = [...new Set(runs.flatMap(({ author }) => (author ? withSigns(author.name) : [])))]
  const failed = runs.filter(({ status }) => status === 'error').length
  const by = names.length > 0 ? ` by ${listed(names)}` : ''
  return `of this draft${by}, ${failed === 0 ? 'none' : failed} failed`
}

function listed(names: readonly string[]): string {
  const more = names.length - mostNamed
  const shown = [...names.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])]
  return shown.length === 1 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
