import { stet } from '../app/session.ts'
import { openBuffers } from './buffer/open-buffers.ts'
import type { PromptPlace } from './buffer/unsaved-copy.ts'

/**
 * Drops what a draft changes at a path. Unsaved text is saved first: a save that arrives later would change the prompt
 * again.
 *
 * @throws Error if the text cannot be saved now. Nothing is reverted then.
 */
export async function revertPrompt(place: PromptPlace): Promise<void> {
  const buffer = openBuffers.find(place)
  // In a conflict nothing is sent until the user has chosen.
  if (buffer && !buffer.state.conflict) await buffer.save()
  await stet.versions.revert(place.versionUuid, { projectId: place.projectId, paths: [place.path] })
}
