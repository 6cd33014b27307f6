import type { Provider } from '@stet/contract/vocabulary'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { use, useEffect, useId, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { providersQuery } from '../../app/queries.ts'
import { keyText, useShortcut } from '../../app/shortcuts.ts'
import { Button, join } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { TextAreaField } from '../../ui/field.tsx'
import { Chip, type Tone } from '../../ui/mark.tsx'
import { Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { Tabs } from '../../ui/table.tsx'
import { answerText, isActive, type RunPhase, type StepView } from '../follow-run.ts'
import { RunPlaceContext } from '../run-place.ts'
import type { Round } from '../session/rounds.ts'
import type { RunSession } from '../session/run-session.ts'
import { mayStream } from '../session/streams.ts'
import { watchRuns } from '../session/watch-runs.ts'
import css from './output.module.css'
import { type OutputTab, RunFacts, RunView } from './run-view.tsx'
import { mayTakeFocus } from './tool-call.tsx'

interface OutputProps {
  session: RunSession
  hasInputs: boolean
}

export const phases: Record<RunPhase, { text: string; tone?: Tone }> = {
  saving: { text: 'Saving', tone: 'blue' },
  waiting: { text: 'Waiting', tone: 'blue' },
  queued: { text: 'Waiting for a free stream', tone: 'amber' },
  streaming: { text: 'Running', tone: 'blue' },
  reconnecting: { text: 'Reconnecting', tone: 'amber' },
  completed: { text: 'Completed', tone: 'green' },
  stopped: { text: 'Stopped', tone: 'amber' },
  failed: { text: 'Failed', tone: 'red' },
}

/** Whether a step has a price of 0. Otherwise a cost of 0 means that the price is missing. */
function isFree(
  { provider, model }: StepView,
  providers: readonly Pick<Provider, 'name' | 'isDemo' | 'models'>[],
): boolean {
  const entry = providers.find(({ name }) => name === provider)
  return entry?.isDemo === true || entry?.models.some(({ id, inputPrice }) => id === model && inputPrice === 0) === true
}

/** The prompt's response, and the chat below it. */
export function Output({ session, hasInputs }: OutputProps) {
  const rounds = useSyncExternalStore(watchRuns, () => session.rounds)
  const isReading = useSyncExternalStore(watchRuns, () => session.isReading)
  const providers = useQuery(providersQuery)
  const [tab, setTab] = useState<OutputTab>('text')
  const id = useId()
  const last = rounds.at(-1)
  const end = useFollowedEnd(last)
  if (isReading) {
    return (
      <div className={join(layout['apart'], css['output'])}>
        <Skeleton lines={3} />
      </div>
    )
  }
  if (!last) {
    return (
      <div className={join(layout['apart'], css['output'])}>
        <p className={css['empty']}>
          {hasInputs ? 'Fill in the inputs, then press Run' : 'To run the prompt, press Run'}
          <span data-keys> or {keyText('mod+Enter')}</span>
        </p>
      </div>
    )
  }
  const { view } = last
  const { conversationUuid } = session
  const { text, tone } = phases[view.phase]
  const isOver = !isActive(view)
  const answer = isOver ? answerText(view) : ''
  return (
    <div className={join(layout['apart'], css['output'])}>
      <header className={join(layout['row'], layout['head'])}>
        <h2 className={layout['title']}>Output</h2>
        <Chip tone={tone}>{view.isStopping ? 'Stopping' : text}</Chip>
        {answer && <CopyButton className={layout['aside']} text={answer} aria-label="Copy the answer" />}
      </header>
      <RunFacts view={view} isPriced={view.steps.every((step) => isFree(step, providers.data ?? []))} />
      <Tabs
        id={id}
        label="Output"
        tabs={[
          { name: 'text', text: 'Text' },
          { name: 'json', text: 'JSON' },
        ]}
        current={tab}
        onChange={setTab}
      />
      <div role="tabpanel" id={`${id}-panel-${tab}`} aria-labelledby={`${id}-tab-${tab}`} className={layout['far']}>
        {rounds.map((round, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rounds are only added at the end
          <RunView key={at} {...{ session, round, tab }} />
        ))}
        <div ref={end} className={css['end']} />
      </div>
      {conversationUuid && isOver && <Chat session={session} />}
      {conversationUuid && (
        <p className={join(layout['uuid'], layout['small'])}>
          <Link to="/runs/$run" params={{ run: conversationUuid }}>
            Open run
          </Link>
          <code data-conversation>{conversationUuid}</code>
          <CopyButton text={conversationUuid} aria-label="Copy the conversation's uuid" />
        </p>
      )}
    </div>
  )
}

/** The element at the end of the output. It stays in view while more arrives, unless the user has scrolled away. */
function useFollowedEnd(last: Round | undefined) {
  const end = useRef<HTMLDivElement>(null)
  const isInView = useRef(false)
  const isShown = last !== undefined
  useLayoutEffect(() => {
    const element = end.current
    if (!isShown || !element) return
    const observer = new IntersectionObserver((entries) => {
      isInView.current = entries.at(-1)?.isIntersecting ?? false
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [isShown])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the run may move the end
  useLayoutEffect(() => {
    if (isInView.current) end.current?.scrollIntoView({ block: 'nearest' })
  }, [last])
  return end
}

/** The field for the next message of the conversation. */
function Chat({ session }: { session: RunSession }) {
  const { tools } = use(RunPlaceContext)
  const [text, setText] = useState(session.kept.reply)
  const [hasFocus, setFocus] = useState(false)
  const isFull = useSyncExternalStore(watchRuns, () => !mayStream())
  const field = useRef<HTMLTextAreaElement>(null)
  // The field was not shown while its message was answered.
  useEffect(() => {
    const isAnswered = session.rounds.at(-1)?.said != null
    if (isAnswered && field.current && mayTakeFocus(field.current)) field.current.focus()
  }, [session])
  const send = () => {
    if (text.trim()) void session.chat(text, tools)
  }
  return (
    <form
      className={css['chat']}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <TextAreaField
        ref={field}
        label="Test a reply"
        note="⏎ sends, ⇧⏎ begins a line"
        rows={1}
        value={text}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
        onChange={(event) => {
          session.keep({ reply: event.target.value })
          setText(event.target.value)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <Button type="submit" blocked={isFull && 'two other runs are active'}>
        Send
      </Button>
      {hasFocus && <SendKey onSend={send} />}
    </form>
  )
}

/** While the user writes a reply, the key that runs the prompt sends the reply. */
function SendKey({ onSend }: { onSend: () => void }) {
  useShortcut({ keys: 'mod+Enter', label: 'Send the reply', group: 'Run', run: onSend })
  return null
}
