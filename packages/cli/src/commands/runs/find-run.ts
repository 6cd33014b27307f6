import type { RunDetails } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isUuid, recentConversations } from '../../ui/recent-conversations.ts'

/**
 * Finds a run by its uuid, that of its conversation (then its latest run), or at least the first 8 digits of either.
 *
 * @throws CliError usage if several runs match
 */
export async function findRun(ref: string, ctx: Context): Promise<RunDetails> {
  const { runs } = await ctx.client()
  if (isUuid(ref)) return runs.get(ref)
  if (!/^[0-9a-f-]{8,36}$/i.test(ref)) {
    throw new CliError('usage', `Invalid run: ${ref}`, { hint: 'use a uuid, or at least its first 8 digits' })
  }
  const digits = ref.toLowerCase().replaceAll('-', '')
  const [recent, ...otherRecent] = await recentConversations(digits, ctx)
  if (recent !== undefined && otherRecent.length === 0) {
    const { NotFoundError } = await import('@stet/sdk')
    try {
      return await runs.get(recent)
    } catch (error) {
      // The remembered conversation may be deleted. Another one may begin with the same digits.
      if (!(error instanceof NotFoundError)) throw error
    }
  }
  await ctx.projectId()
  const { items, scannedTo } = await runs.list({ uuid: ref, limit: 20 })
  const [newest, ...others] = items
  if (!newest) {
    const hint = scannedTo ? `searched back to ${scannedTo}: use the whole uuid` : 'run stet runs list'
    throw new CliError('not_found', `No run or conversation begins with ${ref}`, { hint })
  }
  const isOfConversation = ({ conversationUuid }: { conversationUuid: string }): boolean =>
    conversationUuid === newest.conversationUuid && conversationUuid.replaceAll('-', '').startsWith(digits)
  if (others.length === 0 || items.every(isOfConversation)) return runs.get(newest.uuid)
  throw new CliError('usage', `Several runs begin with ${ref}`, {
    lines: items.map(({ uuid, path, createdAt }) => `${uuid}  ${path}  ${createdAt}`),
  })
}
