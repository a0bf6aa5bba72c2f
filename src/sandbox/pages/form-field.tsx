// A form field: label, input and error message, linked for screen readers.
import type { Child } from 'hono/jsx';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'textarea' | 'select';
  readonly value?: string;
  readonly hint?: string;
  readonly error?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  /** The options of a select. */
  readonly children?: Child;
}

export const Field = ({
  name,
  label,
  type = 'text',
  value = '',
  hint,
  error,
  required,
  autocomplete,
  children,
}: FieldProps) => {
  const notes = [hint ? `${name}-hint` : '', error ? `${name}-error` : ''].filter(Boolean).join(' ');
  const common = {
    id: name,
    name,
    required,
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': notes || undefined,
  };
  return (
    <div class={error ? 'field wrong' : 'field'}>
      <label for={name}>
        {label}
        {required ? null : <span class="optional"> (optional)</span>}
      </label>
      {hint ? (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      ) : null}
      {type === 'textarea' ? (
        <textarea {...common} rows={12}>
          {value}
        </textarea>
      ) : type === 'select' ? (
        <select {...common}>{children}</select>
      ) : (
        <input {...common} type={type} value={value} autocomplete={autocomplete} />
      )}
      {error ? (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  );
};
