import type { ContentPart, Message } from '@stet/sdk'

/** A conversation for a terminal: the role of each message, then what it says. */
export function conversationText(messages: readonly Message[]): string {
  return messages.map((message) => `[${message.role}]\n${contentText(message)}\n`).join('\n')
}

/** A conversation as Markdown, one heading for each message. */
export function conversationMarkdown(messages: readonly Message[]): string {
  return messages.map((message) => `## ${message.role}\n\n${contentText(message)}\n`).join('\n')
}

function contentText({ content }: Message): string {
  return typeof content === 'string' ? content : content.map(partText).join('\n')
}

// Media travel as data URLs of megabytes: their kind says enough here.
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
      return '(reasoning that the provider keeps to itself)'
  }
}

function linkOf(address: string): string {
  return /^https?:/.test(address) ? ` ${address}` : ''
}
