{{- define "flagstaff.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "flagstaff.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "flagstaff.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "flagstaff.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "flagstaff.selector" -}}
app.kubernetes.io/name: {{ include "flagstaff.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "flagstaff.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "flagstaff.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "flagstaff.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "flagstaff.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{ .Values.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
https://{{ first .Values.ingress.hosts }}
{{- else -}}
http://127.0.0.1:8000
{{- end -}}
{{- end -}}

{{/* The path that all paths of the server begin with, such as /flags; empty if the public URL has none. */}}
{{- define "flagstaff.pathPrefix" -}}
{{ trimSuffix "/" (get (urlParse (include "flagstaff.publicUrl" .)) "path") }}
{{- end -}}

{{/* The same for probes and metrics, which have none on the internal port. */}}
{{- define "flagstaff.probedPrefix" -}}
{{- if not .Values.internalPort }}{{ include "flagstaff.pathPrefix" . }}{{ end -}}
{{- end -}}

{{/* The name of the port that has probes and metrics. */}}
{{- define "flagstaff.probedPort" -}}
{{ ternary "internal" "http" (ne (int .Values.internalPort) 0) }}
{{- end -}}

{{/* Settings that must be the same in the server and in the migration. Secrets are read from files. */}}
{{- define "flagstaff.environment" -}}
- name: FLAGSTAFF_DATA_DIR
  value: /data/instance
{{- range $name, $key := dict
  "FLAGSTAFF_DATABASE_URL_FILE" .Values.secretKeys.databaseUrl
  "FLAGSTAFF_SECRET_KEY_FILE" .Values.secretKeys.secretKey
  "FLAGSTAFF_VALKEY_URL_FILE" .Values.secretKeys.valkeyUrl
  "FLAGSTAFF_SMTP_URL_FILE" .Values.secretKeys.smtpUrl
  "FLAGSTAFF_OIDC_PROVIDERS_FILE" .Values.secretKeys.oidcProviders
  "FLAGSTAFF_CLICKHOUSE_URL_FILE" .Values.secretKeys.clickhouseUrl
  "FLAGSTAFF_WEBHOOK_PROXY_FILE" .Values.secretKeys.webhookProxy }}
{{- if $key }}
- name: {{ $name }}
  value: /run/secrets/flagstaff/{{ $key }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "flagstaff.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.existingSecret }}
    defaultMode: 0440
- name: data
  emptyDir:
    sizeLimit: {{ .Values.dataVolume.sizeLimit }}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end -}}

{{- define "flagstaff.volumeMounts" -}}
- name: secrets
  mountPath: /run/secrets/flagstaff
  readOnly: true
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- define "flagstaff.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "flagstaff.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
