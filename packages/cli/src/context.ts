import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Stet } from '@stet/sdk'
import { CliError } from './exit-code.ts'
import { type Io, isInteractive } from './io.ts'
import { createClient } from './settings/client.ts'
import type { GlobalFlags } from './settings/global-flags.ts'
import { resolveSettings, type Settings } from './settings/resolve.ts'
import { askChoice, askConfirmation, askText, type Choice, type Question } from './terminal/questions.ts'
import { asShown, createStyle, type Style } from './terminal/terminal-style.ts'

/** Creates settings and client on first use. A command that needs neither, such as `completion`, reads no files. */
export interface Context {
  readonly io: Io
  readonly flags: GlobalFlags
  readonly style: Style
  readonly dataStyle: Style
  readonly isInteractive: boolean
  /** The command as the user starts it, for lines that can be pasted. */
  readonly program: string
  settings(): Promise<Settings>
  client(): Promise<Stet>
  /** Throws a usage error if no project is set. Its hint names `--project`. */
  projectId(): Promise<number>
  /** Returns a new context that reads all files again. Necessary after writing the lock or the configuration. */
  reopened(changes?: Partial<GlobalFlags>): Context
  say(line: string): void
  /** Prints even with --quiet. */
  warn(message: string): void
  /**
   * Asks for yes or no. With `--yes`, returns true without asking. If questions are impossible, the error names `flag`.
   */
  confirm(message: string, flag: string): Promise<boolean>
  /**
   * Lists what would be deleted, and asks. Only a person can agree: `--yes` has no effect, and without a terminal the
   * answer is no.
   */
  confirmDeletion(message: string, paths: readonly string[]): Promise<boolean>
  /** Asks for a value. If questions are impossible, the error names `flag`. */
  ask(question: Question & { flag: string }): Promise<string>
  /**
   * Asks for one of several choices. If questions are impossible, the error lists the choices and names `flag`. `--yes`
   * has no effect.
   */
  choose(message: string, choices: readonly Choice[], flag: string): Promise<string>
}

export function createContext(system: Io, { cwd, ...given }: GlobalFlags): Context {
  // From here on, relative paths are relative to --cwd.
  const io = cwd === undefined ? system : { ...system, cwd: folderOf(resolve(system.cwd, cwd)) }
  const flags: GlobalFlags = { ...given, json: given.json || io.env['STET_OUTPUT'] === 'json' }
  const style = createStyle(io, flags.color)
  const canAsk = isInteractive(io, flags)
  let settings: Promise<Settings> | undefined
  let client: Promise<Stet> | undefined
  const ctx: Context = {
    io,
    flags,
    style,
    dataStyle: createStyle(io, flags.color, 'stdout'),
    isInteractive: canAsk,
    // npx says so itself. A command that is not installed cannot be pasted without it.
    program: io.env['npm_command'] === 'exec' ? 'npx stet' : 'stet',
    settings: () => {
      settings ??= resolveSettings(ctx)
      return settings
    },
    client: () => {
      client ??= ctx.settings().then((resolved) => createClient(ctx, resolved))
      return client
    },
    async projectId() {
      const { projectId } = await ctx.settings()
      if (projectId) return projectId.value
      throw new CliError('usage', 'No project', { hint: 'pass --project <id>, set STET_PROJECT_ID, or run stet init' })
    },
    reopened: (changes) => createContext(io, { ...flags, ...changes }),
    say(line) {
      if (!flags.quiet && !flags.json) io.err(`${asShown(line, io)}\n`)
    },
    warn(message) {
      io.err(
        flags.json ? `${JSON.stringify({ warning: { message } })}\n` : `${asShown(`${style.warn} ${message}`, io)}\n`,
      )
    },
    async confirm(message, flag) {
      if (flags.yes) return true
      if (!canAsk)
        throw new CliError('usage', `Cannot ask for confirmation: not a terminal. ${message}`, { hint: `pass ${flag}` })
      return askConfirmation(message)
    },
    async confirmDeletion(message, paths) {
      return canAsk && askConfirmation([message, ...paths.map((path) => `  ${path}`)].join('\n'))
    },
    async ask({ flag, ...question }) {
      if (!canAsk) throw new CliError('usage', `Missing input: ${question.message}`, { hint: `pass ${flag}` })
      return askText(question)
    },
    async choose(message, choices, flag) {
      if (canAsk) return askChoice(message, choices)
      const lines = choices.map(({ value, label }) => (label.startsWith(`${value}: `) ? label : `${value}  ${label}`))
      throw new CliError('usage', `Cannot ask: not a terminal. ${message}`, { lines, hint: `pass ${flag}` })
    },
  }
  return ctx
}

function folderOf(cwd: string): string {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return cwd
  throw new CliError('usage', `Folder not found: ${cwd}`, { hint: 'check --cwd' })
}
