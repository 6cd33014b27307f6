import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { use, useEffect, useRef, useState } from 'react'
import { messageOf } from '../../app/failure.tsx'
import { Button, Hidden, join } from '../../ui/button.tsx'
import { TextAreaField } from '../../ui/field.tsx'
import { Chip, type Tone } from '../../ui/mark.tsx'
import { MessageBody } from '../../ui/message-body.tsx'
import layout from '../../ui/styles/layout.module.css'
import type { ToolPart } from '../follow-run.ts'
import { agentCalled, RunPlaceContext } from '../run-place.ts'
import type { RunSession } from '../session/run-session.ts'
import css from './output.module.css'

const states: Record<ToolPart['state'], { text: string; tone?: Tone }> = {
  written: { text: 'Receiving arguments' },
  waiting: { text: 'Waiting for a result', tone: 'amber' },
  running: { text: 'Running', tone: 'blue' },
  answered: { text: 'Answered', tone: 'green' },
  failed: { text: 'Failed', tone: 'red' },
  open: { text: 'No result' },
}
const sources = {
  client: 'answered here',
  agentAsTool: 'prompt used as a tool',
  serverTool: 'server tool',
} as const

interface ToolCallProps {
  call: ToolPart
  session: RunSession
}

/** A tool call with its arguments and its result, and a field for the result while the run waits for it. */
export function ToolCall({ call, session }: ToolCallProps) {
  const { text, tone } = states[call.state]
  const isOver = call.state === 'answered' || call.state === 'failed'
  const result = call.source === 'agentAsTool' ? answerOf(call.result) : call.result
  return (
    <section
      className={join(layout['close'], css['call'])}
      aria-label={`Tool call ${call.name}`}
      tabIndex={-1}
      data-keeps-focus=""
    >
      <header className={layout['row']}>
        <code className={css['callName']}>{call.name}</code>
        <Chip tone={tone}>{text}</Chip>
        {call.source && <span className={layout['small']}>{sources[call.source]}</span>}
        {call.source === 'agentAsTool' && <AgentLink name={call.name} />}
      </header>
      {call.args && <MessageBody text={compactJson(call.args)} />}
      {call.state === 'waiting' && <ResultForm call={call} session={session} />}
      {isOver && (
        <div className={css['callResult']}>
          <span aria-hidden="true">→</span>
          <Hidden>Result</Hidden>
          <MessageBody text={typeof result === 'string' ? result : compactJson(result)} />
        </div>
      )}
    </section>
  )
}

/** Leads to the prompt that answered the call. */
function AgentLink({ name }: { name: string }) {
  const place = use(RunPlaceContext)
  const { projectId, versionUuid, agents } = place
  const { data: path } = useQuery({
    queryKey: ['project', projectId, 'agent', versionUuid, name, agents],
    queryFn: () => agentCalled(name, place),
  })
  if (!path) return null
  const params = { project: String(projectId), version: versionUuid, _splat: path }
  return (
    <Link to="/p/$project/v/$version/prompts/$" params={params} search={{ tab: 'run' }} className={css['agent']}>
      {path}
    </Link>
  )
}

/** An agent answers the model with its answer and whether it failed, which the state of the call says already. */
function answerOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'value' in result ? result.value : result
}

function ResultForm({ call, session }: ToolCallProps) {
  const [text, setText] = useState(session.kept.results[call.key] ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  const send = useMutation({
    mutationFn: (isError: boolean) =>
      session.answerTool(call.key, isError ? text.trim() || 'The tool failed' : resultOf(text), isError),
  })
  // The form is shown until the run's events confirm the result.
  const isSent = send.isPending || send.isSuccess
  useEffect(() => {
    if (field.current && mayTakeFocus(field.current)) field.current.focus()
  }, [])
  return (
    <form
      className={join(layout['stack'], css['result'])}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSent) send.mutate(false)
      }}
    >
      <TextAreaField
        ref={field}
        label={`Result of ${call.name}`}
        note="JSON or text"
        mono
        value={text}
        problem={send.error && messageOf(send.error)}
        onChange={(event) => {
          session.keep({ results: { ...session.kept.results, [call.key]: event.target.value } })
          setText(event.target.value)
        }}
      />
      <div className={layout['row']}>
        <Button type="submit" busy={isSent}>
          Send the result
        </Button>
        <Button look="quiet" busy={isSent} onClick={() => send.mutate(true)}>
          Send as an error
        </Button>
      </div>
    </form>
  )
}

/** A field may not take the focus from the editor, nor from another form that the user fills in. */
export function mayTakeFocus(field: HTMLElement): boolean {
  const { activeElement, body } = field.ownerDocument
  if (!activeElement || activeElement === body) return true
  const isInPane = field.closest('[data-run-pane]')?.contains(activeElement) === true
  return isInPane && !activeElement.closest('form')
}

/** Text that is JSON is sent as its value, so that the model receives what a tool would return. */
function resultOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** On one line if it fits. */
function compactJson(value: unknown): string {
  const line = JSON.stringify(value) ?? 'null'
  return line.length <= 72 ? line : JSON.stringify(value, null, 2)
}
