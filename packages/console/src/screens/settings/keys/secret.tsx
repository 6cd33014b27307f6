import { ShownOnce } from '../shown-once.tsx'

interface SecretProps {
  name: string
  secret: string
  onClose: () => void
}

/** Shows the secret of a new or rotated key. */
export function SecretDialog({ name, secret, onClose }: SecretProps) {
  return (
    <ShownOnce
      title={`The key “${name}”`}
      text="Copy it now. Only its first letters are kept, so it cannot be shown again."
      secret={secret}
      label="the key"
      onClose={onClose}
    >
      <p className="faint">
        In applications: <code>STET_API_KEY</code>. In the command line: <code>stet login</code>.
      </p>
    </ShownOnce>
  )
}
