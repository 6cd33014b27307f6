import { Confirm } from '../../ui/dialog.tsx'

interface DeleteExampleProps {
  name: string
  onClose: () => void
  onConfirm: () => Promise<unknown>
}

/** Asks before an example is deleted for everybody. */
export default function DeleteExample({ name, onClose, onConfirm }: DeleteExampleProps) {
  return (
    <Confirm
      title={`Delete the example ${name}?`}
      text="Deletes the example for everyone in the project. Your fields keep its values."
      action="Delete"
      danger
      open
      onClose={onClose}
      onConfirm={onConfirm}
    />
  )
}
