import type { ContentPart, Message } from '@stet/sdk'

export function conversationText(messages: readonly Message[]): string {
  return messages.map((message) => `[${message.role}]\n${contentText(message)}\n`).join('\n')
}

export function conversationMarkdown(messages: readonly Message[]): string {
  return messages.map((message) => `## ${message.role}\n\n${contentText(message)}\n`).join('\n')
}

function contentText({ content }: Message): string {
  return typeof content === 'string' ? content : content.map(partText).join('\n')
}

// A data URL may have several megabytes. Returns only the type of a media part, and the address if it is an HTTP URL.
function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'image':
      return `(image ${part.mimeType ?? ''}${linkOf(part.image)})`
    case 'file':
      return `(file ${part.mimeType}${linkOf(part.file)})`
    case 'tool-call':
      return `(tool call ${part.toolName} ${JSON.stringify(part.args)})`
    case 'tool-result':
      return `(${part.isError ? 'error' : 'result'} of ${part.toolName}: ${JSON.stringify(part.result)})`
    case 'redacted-reasoning':
      return '(encrypted reasoning)'
  }
}

function linkOf(address: string): string {
  return /^https?:/.test(address) ? ` ${address}` : ''
}
