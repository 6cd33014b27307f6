import type { Message, RunDetails } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../../../app/failure.tsx'
import { setPreferences, usePreferences } from '../../../../app/preferences.ts'
import { useShortcut } from '../../../../app/shortcuts.ts'
import type { OutputPart } from '../../../../runs/follow-run.ts'
import { isActiveRun } from '../../../../runs/run-figures.ts'
import { Button, join } from '../../../../ui/button.tsx'
import { withSigns } from '../../../../ui/hidden-characters.ts'
import { JsonTree } from '../../../../ui/json-tree.tsx'
import { Skeleton } from '../../../../ui/states.tsx'
import layout from '../../../../ui/styles/layout.module.css'
import { counted } from '../../../../ui/time.tsx'
import css from '../inspector.module.css'
import { conversationQuery } from '../queries.ts'
import type { Followed } from '../trace/follow-events.ts'
import { MessageView, Value } from './message.tsx'

/** The inputs of the run, and the messages of its conversation. */
export function Messages({ run, followed }: { run: RunDetails; followed: Followed }) {
  const conversation = useQuery(conversationQuery(run.conversationUuid))
  const { rawAnswers } = usePreferences()
  const toggle = () => setPreferences({ rawAnswers: !rawAnswers })
  useShortcut({ keys: 'm', label: 'Show answers as they were written', group: 'Run', run: toggle })
  const isActive = isActiveRun(run)
  const stored = conversation.data?.conversation
  const live = isActive || !run.messageRange ? liveMessages(followed) : null
  const messages = live ?? stored
  return (
    <>
      <Inputs run={run} />
      <section className={layout['apart']} aria-labelledby="run-messages">
        <div className={join(layout['row'], css['partHead'])}>
          <h2 id="run-messages" className={layout['title']}>
            Messages
          </h2>
          <Button look="quiet" aria-pressed={rawAnswers} shortcut="m" onClick={toggle}>
            As written
          </Button>
        </div>
        {!messages && conversation.error ? (
          <Failure
            error={conversation.error}
            what="The messages could not be loaded"
            onRetry={() => void conversation.refetch()}
          />
        ) : (
          !messages && <Skeleton lines={6} />
        )}
        {messages && <MessageList {...{ run, messages }} isRaw={rawAnswers} isGrowing={isActive && live !== null} />}
      </section>
    </>
  )
}

interface MessageListProps {
  run: RunDetails
  messages: readonly Message[]
  isRaw: boolean
  isGrowing: boolean
}

/** Messages of other runs of the conversation are quiet, and those far before the run are behind a button. */
function MessageList({ run, messages, isRaw, isGrowing }: MessageListProps) {
  const [isWhole, setWhole] = useState(false)
  const [from = 0, to = messages.length] = run.messageRange ?? []
  const { givenFrom, givenCount } = run
  const isGiven = (at: number) => givenFrom !== null && at >= givenFrom && at < givenFrom + (givenCount ?? 0)
  const first = isWhole ? 0 : Math.max(0, from - shownBefore)
  const end = isWhole ? messages.length : Math.min(messages.length, to + shownBefore)
  if (messages.length === 0)
    return <p className={layout['small']}>{isActiveRun(run) ? 'No messages yet.' : 'No messages.'}</p>
  return (
    <>
      {(first > 0 || end < messages.length) && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show all {counted(messages.length, 'message')} of the conversation
        </Button>
      )}
      {messages.slice(first, end).map((message, place) => {
        const at = first + place
        return (
          <MessageView
            key={at}
            message={message}
            isOwn={at >= from && at < to}
            isGiven={isGiven(at)}
            isGrowing={isGrowing && at === messages.length - 1 && message.role === 'assistant'}
            isRaw={isRaw}
          />
        )
      })}
    </>
  )
}

const shownBefore = 2

const withoutInputs: Record<Exclude<RunDetails['parametersState'], 'kept'>, string> = {
  'too-large': 'The inputs were not kept: they have more than 64 KB as JSON.',
  off: 'The inputs were not kept: the server or the project keeps none.',
  none: 'A chat has no inputs. It continues the messages below.',
}

/** The values that the caller gave. */
function Inputs({ run: { parameters, parametersState } }: { run: RunDetails }) {
  const [isJson, setJson] = useState(false)
  const entries = Object.entries(parameters ?? {})
  return (
    <section className={layout['apart']} aria-labelledby="run-inputs">
      <div className={join(layout['row'], css['partHead'])}>
        <h2 id="run-inputs" className={layout['title']}>
          Inputs
        </h2>
        {entries.length > 0 && (
          <Button look="quiet" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
            JSON
          </Button>
        )}
      </div>
      {parametersState !== 'kept' && <p className={layout['small']}>{withoutInputs[parametersState]}</p>}
      {parametersState === 'kept' && entries.length === 0 && <p className={layout['small']}>The run had no inputs.</p>}
      {isJson && <JsonTree value={parameters} label="Inputs" />}
      {!isJson && entries.length > 0 && (
        <dl className={layout['stack']}>
          {entries.map(([name, value]) => (
            <div key={name} className={css['input']}>
              <dt>{withSigns(name)}</dt>
              <dd>
                <Value value={value} label={name} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

/** The messages that the model was given, and its answer so far. Null before its first call. */
function liveMessages({ given, view }: Followed): Message[] | null {
  if (!given) return null
  const parts = view.steps.at(-1)?.parts ?? []
  if (parts.length === 0) return [...given]
  return [...given, { role: 'assistant', content: parts.map(partOf) }, ...parts.flatMap(resultOf)]
}

type Part = Exclude<Message['content'], string>[number]

function partOf(part: OutputPart): Part {
  if (part.kind === 'file') return { type: 'file', file: part.url, mimeType: part.mimeType }
  if (part.kind !== 'tool') return { type: part.kind, text: part.text }
  return { type: 'tool-call', toolCallId: part.key, toolName: part.name, args: part.args ?? {} }
}

function resultOf(part: OutputPart): Message[] {
  if (part.kind !== 'tool' || (part.state !== 'answered' && part.state !== 'failed')) return []
  const { key: toolCallId, name: toolName, result, state } = part
  const content: Part[] = [{ type: 'tool-result', toolCallId, toolName, result, isError: state === 'failed' }]
  return [{ role: 'tool', content }]
}
