import type { RunDetails, RunSpan } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { oneLine } from '../../terminal/output.ts'
import { asShown, type Style } from '../../terminal/terminal-style.ts'
import { costOf, dollars, durationOf, tokensOf, usageOf } from './run-figures.ts'

const mostCharacters = 1000

const marks = { ok: 'ok', error: 'fail', stopped: 'warn' } as const satisfies Record<RunSpan['status'], keyof Style>

/** Describes a run for people. With `allSpans`, lists the calls within its steps too. */
export function runText(run: RunDetails, allSpans: boolean, ctx: Pick<Context, 'io' | 'style'>): string {
  const spans = run.spans.flatMap((span, index) =>
    allSpans || span.kind === 'step' ? [spanLine(span, depthOf(run.spans, index, allSpans), ctx.style)] : [],
  )
  if (run.spansCut) spans.push('  more spans are not kept')
  return [
    headLines(run, ctx).join('\n'),
    section('Inputs', inputLines(run)),
    section('Error', errorLines(run)),
    section(allSpans ? 'Spans' : 'Steps', spans),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length > 0 ? [title, ...lines].join('\n') : ''
}

function headLines(run: RunDetails, { io, style }: Pick<Context, 'io' | 'style'>): string[] {
  const paint = run.status === 'error' ? style.red : run.status === 'completed' ? style.green : style.yellow
  const list = (...parts: (string | null | false)[]): string => oneLine(parts.filter(Boolean).join(asShown(' · ', io)))
  const model = [run.provider, run.model].filter(Boolean).join('/')
  return [
    `${paint(run.status)}  ${style.bold(run.path)} @ ${run.versionUuid}`,
    `  run           ${run.uuid}`,
    `  conversation  ${run.conversationUuid}`,
    `  started       ${list(run.createdAt, `via ${run.via}`, run.mode, run.author?.name ?? null, run.apiKey && `key "${run.apiKey.name}"`)}`,
    `  took          ${list(
      durationOf(run.durationMs),
      run.mode === 'background' && run.queuedMs !== null && `queued ${durationOf(run.queuedMs)}`,
      run.firstTokenMs !== null && `first token ${durationOf(run.firstTokenMs)}`,
    )}`,
    `  used          ${list(tokensOf(run, io), costOf(run))}`,
    ...(model ? [`  model         ${list(model, run.finishReason)}`] : []),
    ...(run.overrides ? [`  overrides     ${JSON.stringify(run.overrides)}`] : []),
    ...(run.customIdentifier === null ? [] : [`  identifier    ${oneLine(run.customIdentifier)}`]),
    ...(run.tags.length > 0 ? [`  tags          ${oneLine(run.tags.join(', '))}`] : []),
    ...(run.feedback === null ? [] : [`  feedback      ${run.feedback}`]),
    ...(run.note === null ? [] : [`  note          ${indented(run.note.text, 16)}`]),
  ]
}

function inputLines({ parameters, parametersState }: RunDetails): string[] {
  if (parametersState === 'too-large') return ['  not kept: more than 64 KB']
  if (parametersState === 'off') return ['  not kept: turned off']
  return Object.entries(parameters ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const isCut = text.length > mostCharacters
    const shown = isCut ? `${text.slice(0, mostCharacters)}... (${text.length} characters; --json prints all)` : text
    return `  ${oneLine(name)}: ${indented(shown, 4)}`
  })
}

/** The position is the innermost span that failed. */
function errorLines({ error, spans }: RunDetails): string[] {
  if (!error) return []
  const message = `  ${error.errorCode}: ${indented(error.message, 4)}`
  const failed = spans.findLastIndex(({ status }) => status === 'error')
  const place = ancestry(spans, failed).map(({ kind, name }) => `${kind} ${oneLine(name)}`)
  return place.length > 0 ? [message, `  in ${place.join(' > ')}`] : [message]
}

function spanLine(span: RunSpan, depth: number, style: Style): string {
  const { kind, name, status, startMs, endMs, firstTokenMs, usage, cost } = span
  const figures = [
    `${durationOf(endMs - startMs)} at +${durationOf(startMs)}`,
    firstTokenMs !== undefined && `first token ${durationOf(firstTokenMs)}`,
    usage && usageOf(usage),
    cost !== undefined && dollars(cost),
  ]
  const head = `${'  '.repeat(depth + 1)}${style[marks[status]]} ${kind} ${oneLine(name)}`
  return `${head}  ${style.dim(figures.filter(Boolean).join(', '))}`
}

/** Without `allSpans`, counts only the steps around a step. */
function depthOf(spans: readonly RunSpan[], index: number, allSpans: boolean): number {
  return ancestry(spans, index).filter(({ kind }) => allSpans || kind === 'step').length - 1
}

/** From the outermost span to the one at `index`. */
function ancestry(spans: readonly RunSpan[], index: number): RunSpan[] {
  const found: RunSpan[] = []
  for (let at: number | null = index; at !== null; ) {
    const span: RunSpan | undefined = spans[at]
    // A parent comes before its children, so a wrong index cannot lead in a circle.
    at = span && span.parent !== null && span.parent < at ? span.parent : null
    if (span) found.unshift(span)
  }
  return found
}

function indented(text: string, columns: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(columns)}`)
}
