import type { MessagePart } from '@stet/contract/vocabulary'
import type { Message } from '@stet/sdk'
import { memo } from 'react'
import { AnswerText } from '../../../../runs/output/answer-text.tsx'
import { partsOf } from '../../../../runs/session/rounds.ts'
import { join } from '../../../../ui/button.tsx'
import { isDataUrl } from '../../../../ui/data-url.ts'
import { withSigns } from '../../../../ui/hidden-characters.ts'
import { JsonTree } from '../../../../ui/json-tree.tsx'
import { Chip } from '../../../../ui/mark.tsx'
import { DataUrl, GrowingText, MessageBody, Reasoning } from '../../../../ui/message-body.tsx'
import layout from '../../../../ui/styles/layout.module.css'
import css from '../inspector.module.css'

const roles: Record<string, string> = {
  system: 'System',
  developer: 'Developer',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
}

interface MessageViewProps {
  message: Message
  /** The run wrote it, or was started with it. */
  isOwn: boolean
  /** The caller gave it beside the prompt. */
  isGiven: boolean
  /** More of its last text may follow. */
  isGrowing?: boolean
  isRaw: boolean
}

/** A message with all of its parts. While one grows, the others are not rendered again. */
export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const { message, isOwn, isGiven, isGrowing = false, isRaw } = props
  const { role } = message
  const parts = partsOf(message)
  return (
    <article className={join(layout['stack'], css['message'])} data-own={isOwn} data-role={role}>
      <p className={css['role']}>
        {roles[role] ?? role}
        {isGiven && <span className={layout['small']}> given by the caller</span>}
      </p>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a stored message stay the same
        <Part key={at} part={part} role={role} isRaw={isRaw} isGrowing={isGrowing && at === parts.length - 1} />
      ))}
    </article>
  )
})

interface PartProps {
  part: MessagePart
  role: Message['role']
  isGrowing: boolean
  isRaw: boolean
}

function Part({ part, role, isGrowing, isRaw }: PartProps) {
  switch (part.type) {
    case 'text':
      if (isGrowing) return <GrowingText text={part.text} />
      if (role === 'assistant') return <AnswerText text={part.text} isRaw={isRaw} />
      return <MessageBody text={part.text} />
    case 'reasoning':
      return (
        <Reasoning open={isGrowing}>
          {isGrowing ? <GrowingText text={part.text} /> : <MessageBody text={part.text} />}
        </Reasoning>
      )
    case 'redacted-reasoning':
      return <p className={layout['small']}>Reasoning that the provider keeps to itself</p>
    case 'image':
      return <FileOf address={part.image} />
    case 'file':
      return <FileOf address={part.file} />
    case 'tool-call':
      return (
        <div className={layout['close']}>
          <p className={css['role']}>
            Calls <code>{withSigns(part.toolName)}</code>
          </p>
          <Value value={part.args} label={`Arguments of ${part.toolName}`} />
        </div>
      )
    case 'tool-result':
      return (
        <div className={layout['close']}>
          <p className={css['role']}>
            <code>{withSigns(part.toolName)}</code> returns {part.isError && <Chip tone="red">an error</Chip>}
          </p>
          <Value value={part.result} label={`Result of ${part.toolName}`} />
        </div>
      )
    default:
      return null
  }
}

/** A file is never loaded: its address may be anyone's. */
function FileOf({ address }: { address: string }) {
  return isDataUrl(address) ? <DataUrl url={address} /> : <MessageBody text={address} />
}

/** An object or a list as a tree, anything else as text. */
export function Value({ value, label }: { value: unknown; label: string }) {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    return <JsonTree value={value} label={label} />
  return <MessageBody text={typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')} />
}
