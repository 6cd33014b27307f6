import { join } from 'node:path'
import type { Context } from '../../context.ts'
import { writeLockFile } from '../../settings/lock-file.ts'
import { isWithin } from '../../settings/write-file.ts'
import { promptsDirOf } from '../../sync/prompt-path.ts'
import { shownFile } from '../../terminal/output.ts'
import type { ImportedPrompt } from './imported-prompt.ts'

/** Keeps the ids of imported prompts in the lock, by path. Adds a loss to each prompt whose id cannot be kept. */
export async function keepAliases(
  prompts: readonly ImportedPrompt[],
  target: string,
  isDry: boolean,
  ctx: Context,
): Promise<void> {
  const named = prompts.filter(({ path, alias = path }) => alias !== path)
  if (named.length === 0) return
  const { lock, lockFile, ...settings } = await ctx.settings()
  const folder = promptsDirOf(settings)
  const isInside = target === folder || (await isWithin(folder, join(target, 'prompt')))
  const shownLock = shownFile(lockFile, ctx.io.cwd)
  const reason = isInside
    ? lock
      ? undefined
      : `there is no ${shownLock}: run stet init, then import again`
    : `the file is not in ${shownFile(folder, ctx.io.cwd)}`
  if (reason !== undefined) {
    for (const { alias, losses } of named) losses.push(`The id "${alias}" was not kept, because ${reason}`)
    return
  }
  if (!lock || isDry) return
  const prefix = target.slice(folder.length + 1).replaceAll('\\', '/')
  const added = named.map(({ alias, path }) => [alias, prefix === '' ? path : `${prefix}/${path}`])
  await writeLockFile(lockFile, { ...lock, aliases: { ...lock.aliases, ...Object.fromEntries(added) } })
}
