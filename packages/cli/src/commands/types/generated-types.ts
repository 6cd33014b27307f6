import { resolve } from 'node:path'
import { annotate } from '../../compile/annotations.ts'
import { compileTexts, problemsOf } from '../../compile/compile-texts.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import type { Settings } from '../../settings/resolve.ts'
import { readFormerText } from '../../settings/write-file.ts'
import { listPrompts } from '../../sync/list-prompts.ts'
import { promptEnding } from '../../sync/prompt-path.ts'
import { scanProject } from '../../sync/scan.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { formatRegistry, type TypedPrompt } from './registry.ts'

export interface TypesInput {
  /** Overrides `types.out`. Relative to the working folder. */
  out: string | undefined
  isLocal: boolean
  /** Overrides `types.strictPaths`: any path compiles. */
  isLoose: boolean
}

export interface GeneratedTypes {
  file: string
  text: string
  isCurrent: boolean
  paths: string[]
}

/** @throws CliError invalid for files that do not compile */
export async function generateTypes({ out, isLocal, isLoose }: TypesInput, ctx: Context): Promise<GeneratedTypes> {
  const settings = await ctx.settings()
  const { root, config } = settings
  const file = out === undefined ? resolve(root, config.types.out) : resolve(ctx.io.cwd, out)
  const prompts = isLocal ? await localPrompts(settings, ctx) : await serverPrompts(ctx)
  const text = formatRegistry(prompts, {
    isStrict: config.types.strictPaths && !isLoose,
    fileOf: (path) => `${config.promptsDir}/${path}${promptEnding}`.replace(/^\.\//, ''),
  })
  const before = await readFormerText(file)
  // A checkout may convert line endings.
  const isCurrent = before?.replaceAll('\r\n', '\n') === text
  return { file, text, isCurrent, paths: prompts.map(({ path }) => path) }
}

async function serverPrompts(ctx: Context): Promise<TypedPrompt[]> {
  await ctx.projectId()
  const client = await ctx.client()
  const prompts = await listPrompts(client, { versionUuid: await findVersionToRun(client, ctx) })
  return prompts.map(({ path, config, parameters }) => ({ path, config, parameters: Object.keys(parameters) }))
}

async function localPrompts(settings: Settings, ctx: Context): Promise<TypedPrompt[]> {
  const { prompts } = await scanProject(settings, ctx.warn)
  const scans = await compileTexts(new Map([...prompts].map(([path, { text }]) => [path, text])))
  const errors = problemsOf(scans, prompts).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    annotate(errors, ctx)
    const lines = errors.map(({ path, line, column, message }) => `${path}:${line}:${column} ${message}`)
    throw new CliError('invalid', 'Prompts do not compile', { lines, hint: 'run stet check --local' })
  }
  return [...scans].map(([path, { config, parameters }]) => ({ path, config, parameters }))
}
