# claimed by loading part
