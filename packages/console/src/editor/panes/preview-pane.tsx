import type { Message } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { Failure } from '../../app/failure.tsx'
import { examplesQuery } from '../../app/queries.ts'
import { inputsOf, valuesOf } from '../../runs/inputs/input-value.ts'
import { inputsNow } from '../../runs/inputs/use-inputs.ts'
import { join } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import { DataUrl, MessageBody } from '../../ui/message-body.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import type { Opened } from '../open-prompt.ts'
import css from './panes.module.css'
import { previewValues, splitMarks } from './preview-values.ts'
import { checkQuery } from './queries.ts'

interface PreviewPaneProps {
  open: Opened
  /** The uuid of the chosen example, from the page's address. */
  example: string | undefined
}

/** The messages of the first step, as the model receives them with the inputs of Run. */
export function PreviewPane({ open, example }: PreviewPaneProps) {
  const { place, document, status } = open
  const inputs = inputsOf(document)
  const key = `${place.projectId}/${document.documentUuid}`
  const typed = useMemo(() => inputsNow(key), [key])
  const examples = useQuery({
    ...examplesQuery(place.projectId, document.documentUuid),
    enabled: example !== undefined && inputs.length > 0,
  })
  // A run of a prompt without inputs uses no example either.
  const chosen = inputs.length > 0 ? examples.data?.find(({ uuid }) => uuid === example) : undefined
  // Run fills in an example when it is first shown.
  const set = chosen && typed.example !== example ? chosen.parameters : valuesOf(inputs, typed.drafts).parameters
  const { parameters, unset } = previewValues(inputs, set, document.content)
  const check = useQuery({
    ...checkQuery({ ...place, contentHash: document.contentHash, parameters }),
    enabled: !examples.isLoading,
  })
  // A run adds the messages of its example.
  const shown = check.data?.messages && [...check.data.messages, ...(chosen?.messages ?? [])]
  return (
    <div className={join(layout['apart'], css['pane'])}>
      {chosen && <p className={layout['faint']}>With the example “{chosen.name}”.</p>}
      {unset.length > 0 && (
        <p className={layout['row']}>
          <span className={layout['faint']}>Not set in Run:</span>
          {unset.map((name) => (
            <Chip key={name}>{name}</Chip>
          ))}
        </p>
      )}
      {status.kind === 'kept' && <Notice tone="amber">This is the text as it was saved last.</Notice>}
      {check.error && <Failure error={check.error} what="The preview could not be made" onRetry={check.refetch} />}
      {check.isPending && <Skeleton />}
      {check.data && !shown && (
        <Notice tone={unset.length > 0 && document.errors.length === 0 ? 'amber' : 'red'}>
          {check.data.errors[0]?.message ?? 'The prompt does not compile.'}
        </Notice>
      )}
      {shown?.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other identity than their place
        <Shown key={at} message={message} />
      ))}
      {shown?.length === 0 && <p className={layout['faint']}>The first step has no messages.</p>}
    </div>
  )
}

function Shown({ message }: { message: Message }) {
  const { content } = message
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }]
  return (
    <article className={join(layout['close'], css['message'])}>
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
  if (type === 'text') return <MessageBody text={String(text)} render={withChips} />
  const source = image ?? file
  if (typeof source === 'string' && splitMarks(source).length > 1)
    return <div>{withChips(source.slice('data:,'.length))}</div>
  if (typeof source === 'string' && source.startsWith('data:')) return <DataUrl url={source} />
  return <MessageBody text={typeof source === 'string' ? source : JSON.stringify(part, null, 2)} />
}

function withChips(text: string): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity than their place
  return splitMarks(text).map((part, at) => (at % 2 ? <Chip key={at}>{part}</Chip> : part))
}
