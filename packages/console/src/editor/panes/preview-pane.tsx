import type { Message } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Failure } from '../../app/failure.tsx'
import { examplesQuery } from '../../app/queries.ts'
import { inputsOf } from '../../runs/inputs/input-value.ts'
import { DataUrl, MessageBody } from '../../runs/message-body.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import type { Opened } from '../open-prompt.ts'
import css from './panes.module.css'
import { checkQuery } from './queries.ts'

interface PreviewPaneProps {
  open: Opened
  /** The uuid of the chosen example, from the page's address. */
  example: string | undefined
}

/** The messages of the first step, as the model receives them with the chosen example. */
export function PreviewPane({ open, example }: PreviewPaneProps) {
  const { place, document, status } = open
  const examples = useQuery({
    ...examplesQuery(place.projectId, document.documentUuid),
    enabled: example !== undefined,
  })
  const inputs = inputsOf(document)
  // A run of a prompt without inputs uses no example either.
  const chosen = inputs.length > 0 ? examples.data?.find(({ uuid }) => uuid === example) : undefined
  const isReady = example === undefined || examples.data !== undefined || examples.error !== null
  const lacksInputs = inputs.length > 0 && !chosen && document.errors.length === 0
  const required = lacksInputs ? inputs.filter(({ isRequired }) => isRequired).map(({ name }) => name) : []
  const check = useQuery({
    ...checkQuery({ ...place, contentHash: document.contentHash, parameters: chosen?.parameters ?? {} }),
    enabled: isReady && required.length === 0,
  })
  // The check of the text before it, which may have needed fewer inputs, is kept while it is not made again.
  const made = required.length === 0 ? check.data : undefined
  // A run adds the messages of its example.
  const shown = made?.messages && [...made.messages, ...(chosen?.messages ?? [])]
  return (
    <div className={css['pane']}>
      <p className={css['quiet']}>
        {chosen
          ? `With the example “${chosen.name}”.`
          : inputs.length > 0
            ? 'Without inputs. Choose an example in Run.'
            : ''}
      </p>
      {status.kind === 'kept' && <Notice tone="amber">This is the text as it was saved last.</Notice>}
      {check.error && <Failure error={check.error} what="The preview could not be made" onRetry={check.refetch} />}
      {isReady && required.length > 0 && <Notice tone="amber">The prompt requires {required.join(', ')}.</Notice>}
      {(!isReady || (check.isPending && required.length === 0)) && <Skeleton />}
      {made && !made.messages && (
        <Notice tone={lacksInputs ? 'amber' : 'red'}>
          {made.errors[0]?.message ?? 'The prompt does not compile.'}
        </Notice>
      )}
      {shown?.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other identity than their place
        <Shown key={at} message={message} />
      ))}
      {shown?.length === 0 && <p className={css['quiet']}>The first step has no messages.</p>}
    </div>
  )
}

function Shown({ message }: { message: Message }) {
  const { content } = message
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }]
  return (
    <article className={css['message']}>
      <h2 className={css['role']}>{message.role}</h2>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity than their place
        <Part key={at} part={part} />
      ))}
    </article>
  )
}

function Part({ part }: { part: unknown }) {
  const { type, text, image, file } = Object(part)
  if (type === 'text') return <MessageBody text={String(text)} />
  const source = image ?? file
  if (typeof source === 'string' && source.startsWith('data:')) return <DataUrl url={source} />
  return <MessageBody text={typeof source === 'string' ? source : JSON.stringify(part, null, 2)} />
}
