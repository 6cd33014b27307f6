import { defineCommand } from '../command.ts'
import { annotate, findingsOf } from '../compile/annotations.ts'
import { compileTexts, type Problem, problemsOf } from '../compile/compile-texts.ts'
import type { Context } from '../context.ts'
import { exitCodes } from '../exit-code.ts'
import { isInStep, shownState } from '../sync/compare.ts'
import { allowEmptyFlag, type Refusal, refuseEmpty, scanProject } from '../sync/scan.ts'
import { openWorkspace, type Workspace } from '../sync/workspace.ts'
import { countOf, shownFile } from '../terminal/output.ts'
import { generateTypes } from './types/generated-types.ts'

interface CheckInput {
  isLocal: boolean
  allowsEmpty: boolean
}

interface CheckData {
  checked: number
  problems: Problem[]
  /** Empty with --local. */
  differences: { path: string; state: ReturnType<typeof shownState> }[]
  types: { file: string; isCurrent: boolean } | null
  refused: Refusal[]
}

export const command = defineCommand({
  summary:
    'Runs every check, for CI: compiles the files, compares them with the server, and checks the generated types.',
  examples: ['stet check', 'stet check --local', 'stet check --json'],
  flags: { '--local': 'compile the files only; needs no server and no key', ...allowEmptyFlag },
  parse: (raw): CheckInput => ({ isLocal: raw.flags.local, allowsEmpty: raw.flags.allowEmpty }),
  run: async ({ isLocal, allowsEmpty }, ctx): Promise<CheckData> => {
    const found = isLocal ? await checkFiles(ctx, allowsEmpty) : await checkAll(ctx, allowsEmpty)
    annotate(found.problems, ctx)
    return { ...found, types: await checkTypes(found, isLocal, ctx) }
  },
  print: printCheck,
  exitCode({ problems, differences, types, refused }) {
    if (problems.some(({ severity }) => severity === 'error')) return exitCodes.invalid
    if (differences.length > 0 || types?.isCurrent === false) return exitCodes.differences
    return refused.length > 0 ? exitCodes.unexpected : exitCodes.success
  },
})

type Found = Omit<CheckData, 'types'>

async function checkFiles(ctx: Context, allowsEmpty: boolean): Promise<Found> {
  const settings = await ctx.settings()
  const scan = await scanProject(settings, ctx.warn)
  refuseEmpty(scan, settings, allowsEmpty)
  for (const { path, reason } of scan.refused) ctx.warn(`Skipped ${path}: ${reason}`)
  const scans = await compileTexts(new Map([...scan.prompts].map(([path, { text }]) => [path, text])))
  return {
    checked: scan.prompts.size,
    problems: problemsOf(scans, scan.prompts),
    differences: [],
    refused: scan.refused,
  }
}

async function checkAll(ctx: Context, allowsEmpty: boolean): Promise<Found> {
  const workspace = await openWorkspace(ctx)
  const { scan, remote, compared } = workspace
  refuseEmpty(scan, workspace.settings, allowsEmpty)
  const contents = new Map([...remote].map(([path, { content }]) => [path, content]))
  const scans = await compileTexts(new Map([...scan.prompts].map(([path, { text }]) => [path, text])), contents)
  const differing = compared.filter((one) => !isInStep(one))
  return {
    checked: scan.prompts.size,
    problems: [...problemsOf(scans, scan.prompts), ...serverProblems(workspace)],
    differences: differing.map((one) => ({ path: one.path, state: shownState(one) })),
    refused: scan.refused,
  }
}

// If a prompt also exists as a file, the file is compiled instead.
function serverProblems({ scan, remote }: Workspace): Problem[] {
  return [...remote.values()]
    .filter(({ path }) => !scan.prompts.has(path))
    .flatMap(({ path, ...prompt }) =>
      findingsOf(prompt).map(({ code, message, line, column, frame, severity }) => {
        return { path, file: null, line, column, code, message, frame, severity }
      }),
    )
}

// With --local, skips the check if any file fails to compile: its types are unknown, and its errors are already
// reported.
async function checkTypes({ problems }: Found, isLocal: boolean, ctx: Context): Promise<CheckData['types']> {
  const { config } = await ctx.settings()
  const isBroken = problems.some(({ severity, file }) => severity === 'error' && file !== null)
  if (!config.types.isConfigured || (isLocal && isBroken)) return null
  const { file, isCurrent } = await generateTypes({ out: undefined, isLocal, isLoose: false }, ctx)
  return { file: shownFile(file, ctx.io.cwd), isCurrent }
}

function printCheck(
  { checked, problems, differences, types }: CheckData,
  { io, style, dataStyle, say }: Context,
  { isLocal }: CheckInput,
): void {
  for (const { path, file, line, column, code, message, frame, severity } of problems) {
    const place = file === null ? `${path} (server)` : shownFile(file, io.cwd)
    const mark = severity === 'error' ? dataStyle.red(severity) : dataStyle.yellow(severity)
    io.out(`${place}:${line}:${column} ${mark} ${message} (${code})\n${frame}\n`)
  }
  for (const { path, state } of differences) io.out(`${dataStyle.yellow('differs')} ${path} (${state})\n`)
  if (types && !types.isCurrent) io.out(`${dataStyle.yellow('out of date')} ${types.file}\n`)
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const counts = [`${countOf(checked, 'file')} compiled`, countOf(errors, 'error')]
  if (problems.length > errors) counts.push(countOf(problems.length - errors, 'warning'))
  if (!isLocal) counts.push(countOf(differences.length, 'difference'))
  const isFine = errors + differences.length === 0 && types?.isCurrent !== false
  say(`${isFine ? style.ok : style.fail} ${counts.join(' · ')}`)
  if (differences.length > 0) say('  hint: run stet status')
  if (types && !types.isCurrent) say('  hint: run stet types generate')
}
