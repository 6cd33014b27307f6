import { Command as Commander, CommanderError, Option } from 'commander'
import { version } from '../package.json' with { type: 'json' }
import type { Command } from './command.ts'
import { commandTable, groupSummaries, helpGroups } from './commands/table.ts'
import { createContext } from './context.ts'
import { CliError, describeFailure, exitCodes } from './exit-code.ts'
import { type Io, isOn } from './io.ts'
import { type Flag, globalFlags, readGlobalFlags } from './settings/global-flags.ts'
import { failureText } from './terminal/output.ts'
import { guardOutput } from './terminal/terminal-style.ts'

export async function run(argv: readonly string[], system: Io): Promise<number> {
  let exitCode: number = exitCodes.success
  const isJson = argv.includes('--json') || system.env['STET_OUTPUT'] === 'json'
  const io = guardOutput(system, isJson)
  const onEnd = (code: number): void => {
    exitCode = code
  }
  const program = createProgram({ io, isJson, onEnd })
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv]
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return await report(error, program, { io, isJson, onEnd })
    if (error.exitCode === 0) return exitCodes.success
    // A group without a subcommand has already printed its help.
    if (error.code === 'commander.help' && !isJson) return exitCodes.usage
    return await report(usageFailure(error.message), program, { io, isJson, onEnd })
  }
}

/** Converts commander's message to a CliError, so that usage errors have the same format as other failures. */
function usageFailure(text: string): CliError {
  const [, said = '', suggestion] = /^(?:error: )?(.*?)(?:\n\(Did you mean (.*)\?\))?$/s.exec(text) ?? []
  const hint = suggestion === undefined ? 'run stet --help' : `did you mean ${suggestion}?`
  return new CliError('usage', said.charAt(0).toUpperCase() + said.slice(1), { hint })
}

interface Host {
  io: Io
  isJson: boolean
  onEnd(exitCode: number): void
}

async function report(error: unknown, program: Commander, { io, isJson }: Host): Promise<number> {
  const failure = await describeFailure(error)
  const flags = readGlobalFlags(program.opts())
  io.err(failureText(failure, isJson, io, flags.color))
  const wantsStack = flags.debug || isOn(io.env['STET_DEBUG'])
  if (wantsStack && !isJson && error instanceof Error && error.stack) io.err(`${error.stack}\n`)
  return failure.exitCode
}

function createProgram(host: Host): Commander {
  const program = new Commander('stet').description('The command line of stet, the self-hosted prompt service.')
  prepare(program, host)
  for (const flag of globalFlags) program.addOption(optionOf(flag))
  // Handles `--version` after other words. `main.ts` handles `--version` as the first word without loading other
  // modules.
  program.version(version, '--version', 'print the version').helpCommand(false)
  const groups = new Map<string, Commander>([['', program]])
  for (const [name, entry] of Object.entries(commandTable)) {
    const words = name.split(' ')
    const word = words.pop() ?? name
    const group = groups.get(words.join(' ')) ?? addGroup(program, words.join(' '), groups, host)
    const child = prepare(new Commander(word).description(entry.summary), host)
    group.addCommand(child)
    // A command may have subcommands, such as `eval show`. Flags after the name of one belong to it.
    groups.set(name, child.enablePositionalOptions())
    waiting.set(child, async () => fill(child, (await entry.load()).command, program, host))
  }
  for (const [heading, words] of Object.entries(helpGroups)) {
    for (const child of program.commands) if (words.includes(child.name())) child.helpGroup(heading)
  }
  return program
}

const waiting = new WeakMap<Commander, () => Promise<void>>()

function prepare(target: Commander, { io, isJson }: Host): Commander {
  return target
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => !isJson && io.err(text),
      // `report` prints usage errors instead.
      outputError: () => {},
    })
    .hook('preSubcommand', async ({ args: [, next] }, child) => {
      // `eval` would take the flags of `eval show` that it has as well.
      if (child.commands.some((one) => one.name() === next)) return
      await waiting.get(child)?.()
    })
}

function addGroup(program: Commander, name: string, groups: Map<string, Commander>, host: Host): Commander {
  const group = prepare(new Commander(name).description(groupSummaries[name] ?? name).helpCommand(false), host)
  program.addCommand(group)
  groups.set(name, group)
  return group
}

function fill(target: Commander, command: Command, program: Commander, { io, onEnd }: Host): void {
  for (const [form, summary] of Object.entries(command.args)) target.argument(form, summary)
  for (const flag of command.flags) target.addOption(optionOf(flag))
  target.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`)
  target.addHelpText('after', '\nGlobal flags: stet --help')
  target.action(async () => {
    const ctx = createContext(io, readGlobalFlags(program.opts()))
    onEnd(await command.execute({ args: target.args, flags: target.opts() }, ctx))
  })
}

function optionOf({ long, short, value, isMany, summary, variable }: Flag): Option {
  const text = variable ? `${summary} (${variable})` : summary
  const names = short ? `${short}, ${long}` : long
  const option = new Option(value ? `${names} ${value}` : names, text)
  if (isMany) option.argParser((item: string, before: string[] | undefined) => [...(before ?? []), item])
  return option
}
