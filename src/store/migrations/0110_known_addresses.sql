-- Earlier versions noted an address of this machine itself without its port, so that the jobs may have been made at any
-- port. No configured address equals one with the port "?": a person is asked where such a site is now.
update site_state set address = regexp_replace(address, '^(localhost|127(\.\d+){3}|\[::1\])(?=/|$)', '\1:?')
where address ~ '^(localhost|127(\.\d+){3}|\[::1\])(/|$)';
