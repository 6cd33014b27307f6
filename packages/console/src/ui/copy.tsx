import { useRef, useState } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import css from './styles/content.module.css'

interface CopyProps extends Omit<ButtonProps, 'onClick' | 'children'> {
  /** The text to copy, or a function that makes it once it is needed. */
  text: string | (() => string)
  label?: string
}

/** Copies a text. Pages on plain http have no clipboard, so there the text is selected in a field and copied from it. */
export function CopyButton({ text, label = 'Copy', ...rest }: CopyProps) {
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const copy = async () => {
    setCopied((await copyText(typeof text === 'string' ? text : text(), field.current)) ? 'yes' : 'no')
    button.current?.focus()
  }
  return (
    <span className={css['copyHold']}>
      <textarea ref={field} className={css['copyField']} wrap="off" readOnly tabIndex={-1} aria-hidden="true" />
      <Button look="quiet" {...rest} ref={button} onClick={copy} onBlur={() => setCopied(null)}>
        <span aria-live="polite">{copied === 'yes' ? 'Copied' : copied === 'no' ? 'Select and copy it' : label}</span>
      </Button>
    </span>
  )
}

/** A line or block that is there to be copied. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className={css['code']}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className={css['codeText']} tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <CopyButton text={text} aria-label={`Copy ${label}`} />
    </div>
  )
}

async function copyText(text: string, field: HTMLTextAreaElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // navigator.clipboard is undefined off https, and a browser may refuse it.
    if (!field) return false
    // Only now: laying out a long text in each hidden field would block the page.
    field.value = text
    field.select()
    return field.ownerDocument.execCommand('copy')
  }
}
