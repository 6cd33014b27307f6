import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Project, Stet, Version } from '@stet/sdk'
import { defineCommand, hasFlag, textFlag } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { configFileName } from '../settings/config-file.ts'
import { readTextIfPresent, writeFileAtomically } from '../settings/json-file.ts'
import type { Resolved, Settings } from '../settings/resolve.ts'
import { describeVersion, findLiveOrNewestDraft, findVersion } from '../sync/version-ref.ts'
import { saveLock } from '../sync/workspace.ts'
import { type PullReport, pull, sayPull } from './pull.ts'

interface InitReport {
  project: Pick<Project, 'id' | 'name'>
  version: Version
  written: string[]
  pull: PullReport | null
}

export const command = defineCommand({
  summary: 'Connects this folder with a project: writes stet.config.json and stet.lock.json, and pulls the prompts.',
  examples: ['stet init --project 1', 'stet init --create "Support bot" --dir prompts'],
  flags: [
    { long: '--create', value: '<name>', summary: 'make a new project instead of naming one' },
    { long: '--dir', value: '<folder>', summary: 'folder of the prompt files (prompts)' },
    { long: '--no-pull', summary: 'write the files, but no prompts' },
    { long: '--force', summary: 'replace an existing configuration and lock' },
  ],
  parse(raw) {
    return {
      create: textFlag(raw, 'create'),
      dir: textFlag(raw, 'dir'),
      wantsPull: raw.flags['pull'] !== false,
      isForced: hasFlag(raw, 'force'),
    }
  },
  async run(input, ctx): Promise<InitReport> {
    const settings = await ctx.settings()
    if (settings.lock && !input.isForced) {
      throw new CliError('usage', `${settings.lockFile} exists: this folder is connected already`, {
        hint: 'stet status, or stet init --force to start over',
      })
    }
    const client = await ctx.client()
    const { project, version } = await chooseProject(client, input.create, settings, ctx)
    await writeConfig(settings, project.id, input.dir)
    await saveLock({ settings }, version, version.isLive, {})
    // What was resolved so far did not know the files that are written now.
    const next = ctx.reopened({ project: String(project.id) })
    const written = [configFileName, relative(settings.root, settings.lockFile)]
    const report = input.wantsPull ? await pull(next, { names: [], isPruning: false, isDry: false }) : undefined
    return { project: { id: project.id, name: project.name }, version, written, pull: report ?? null }
  },
  print({ project, version, written, pull }, ctx) {
    ctx.say(`${ctx.style.ok} Project ${project.id} "${project.name}" · ${describeVersion(version)}`)
    ctx.say(`${ctx.style.ok} Wrote ${written.join(', ')}`)
    if (pull) sayPull(pull, ctx)
    ctx.say('  Next: edit a file, then  stet push')
  },
  exitCode: ({ pull }) => (pull && pull.refused.length > 0 ? exitCodes.unexpected : exitCodes.success),
})

async function chooseProject(
  client: Stet,
  name: string | undefined,
  settings: Settings,
  ctx: Context,
): Promise<{ project: Pick<Project, 'id' | 'name'>; version: Version }> {
  if (name !== undefined) return client.projects.create(name)
  const id = await ctx.projectId()
  const project = (await client.projects.list()).find((one) => one.id === id)
  if (!project) {
    throw new CliError('not_found', `No project ${id} (${settings.projectId?.origin})`, {
      hint: 'stet init --create <name>',
    })
  }
  const ref: Resolved<string> | undefined = settings.versionRef
  const scoped = client.project(id)
  return { project, version: await (ref ? findVersion(scoped, ref.value) : findLiveOrNewestDraft(scoped)) }
}

// Keys that somebody else wrote stay; only what init is asked to set changes.
async function writeConfig(settings: Settings, projectId: number, dir: string | undefined): Promise<void> {
  const file = settings.configFile ?? join(settings.root, configFileName)
  const text = existsSync(file) ? await readTextIfPresent(file) : undefined
  const before: Record<string, unknown> = text === undefined ? {} : JSON.parse(text)
  const config = {
    ...before,
    baseUrl: settings.baseUrl.value.replace(/\/api\/v3$/, ''),
    projectId,
    promptsDir: dir === undefined ? settings.config.promptsDir : folderBelow(settings.root, dir),
  }
  await writeFileAtomically(file, `${JSON.stringify(config, null, 2)}\n`)
}

function folderBelow(root: string, dir: string): string {
  const way = relative(root, resolve(root, dir)).replaceAll('\\', '/')
  if (way.startsWith('..')) throw new CliError('usage', `${dir} lies outside of ${root}`, { hint: '--dir' })
  return way === '' ? '.' : way
}
